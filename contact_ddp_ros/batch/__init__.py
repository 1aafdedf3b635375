"""Independent pieces of work in processes or on a cluster, with a journal from which one that was cut off goes on."""
