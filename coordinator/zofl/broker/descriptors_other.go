//go:build !unix

package broker

// descriptors returns 0: the system sets no limit.
func descriptors() uint64 { return 0 }
