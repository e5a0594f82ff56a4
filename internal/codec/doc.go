// Package codec writes and reads the msgpack values that frames consist of: unsigned
// integers, float32, bin, str, arrays and maps, each in its shortest form only.
//
// The Append functions append a value to a slice and return it, like the builtin append. A [Reader]
// reads the values of one frame in order. A Reader checks every length against the remaining bytes
// before it allocates anything. A Reader never panics, whatever the bytes of a frame are. The
// Append functions encode every accepted value to the same bytes.
//
// This package uses only the type codes (msgpcode) of the msgpack library. The tests of package
// wire compare frames with frames that the whole library writes. The library's decoder would accept
// longer forms than the shortest, and would allocate as many bytes as a hostile length claims. So
// no program uses that decoder for bytes from a network. The library's encoder would write the same
// bytes as the Append functions, but would add 200 kB to the program of every device.
package codec
