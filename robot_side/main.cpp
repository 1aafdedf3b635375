#include <main_helper.h>

#include "RemoteJointController.hpp"

int main(int argc, char** argv) { return main_helper(argc, argv, new RemoteJointController()); }
