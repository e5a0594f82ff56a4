// Package wiretest makes and reads the test vectors of package wire. Each vector is a file with one
// frame, and the frame has at most one fault.
//
// The package is for tests of code that reads frames. [Load] returns the vectors of
// wire/testdata/vectors, for tables and as seeds for fuzzing. The [Value] functions write msgpack
// without package wire. So they can write frames that package wire would never write, and tests do
// not compare package wire with itself.
//
// The vectors are defined in tables. A line that begins with # is a comment. A line that begins
// with two blanks continues the line before. Each other line has one of these forms:
//
//	frame NAME                       the frame of the vectors below
//	NAME = VALUE                     a name for a value
//	EXPECT NAME VALUE -- COMMENT     a vector
//	common VALUE                     the vectors of common.txt, made of this frame
//
// and a value one of
//
//	7  2^32-1              an integer in its shortest form
//	0.5  1e-5  nan  inf    a float32
//	"text"  "x"*33         a string, or one of 33 x
//	[1 2]  [17*"m"]        an array, or one that has a value 17 times
//	{1: 5 3: 0.5}          a map
//	h'0b a0..a7'           a byte string; a0..a7 are the bytes from a0 to a7
//	h(VALUE)               a byte string that holds a value
//	<1 -0.5>  <0>*17       a byte string of float32s, the lower byte first
//	x'cc01'                these bytes, whatever they mean
//	VALUE~VALUE            a value and what follows it
//	NAME                   the value of a name
//	NAME(5=0 -3 +7)        the same, with 0 as field or at key 5, without key 3, and with 7 added
//	NAME(0:9)              its first 9 bytes
package wiretest
