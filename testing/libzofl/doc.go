// Package libzofl tests the library for other languages with their compilers: it builds libzofl.so,
// and runs devices in C, Python and C# beside one in Go, over a broker that restarts.
// ZOFL_LIBZOFL=1 switches it on: check.sh all does.
package libzofl
