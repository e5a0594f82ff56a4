// Package codec writes and reads the msgpack values that frames consist of: unsigned
// integers, float32, bin, str, arrays and maps, each in its shortest form only.
//
// The Append functions append a value to a slice and return it, like the builtin append. A [Reader]
// reads the values of one frame in order. It checks every length against the remaining bytes before
// it allocates anything, and never panics on the bytes of a frame. The Append functions encode
// every accepted value to the same bytes.
//
// This package uses only the type codes (msgpcode) of the msgpack library. The tests of package
// wire compare frames with frames of the whole library. The library's decoder would accept longer
// forms than the shortest, and would allocate as much as a hostile length claims. So it never reads
// bytes from a network. Its encoder would write the same bytes as the functions here, which hot
// frames need anyway, and would add 200 kB to every device.
package codec
