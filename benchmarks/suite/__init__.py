"""Problems that others have published, with their instances: what our solver and IPOPT make of them."""
