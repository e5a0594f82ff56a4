// Package codec writes and reads the msgpack values that frames consist of: unsigned
// integers, float32, bin, str, arrays and maps, each in its shortest form only.
//
// The Append functions append a value to a slice and return it, like the builtin append.
// A [Reader] reads the values of one frame in order. It checks every length against the
// bytes that remain before anything is allocated, and never panics on the bytes of a
// frame. What it accepts, the Append functions encode to the same bytes.
//
// Of the msgpack library this package uses the type codes (msgpcode) and nothing else;
// the tests of package wire compare frames with those of the whole library. The library's
// decoder would accept longer forms than the shortest, and it allocates what a hostile
// length claims, so it never sees bytes of a network. Its encoder would write the same
// bytes as the functions here, which hot frames need anyway, and would add 200 kB to
// every device.
package codec
