//go:build jni

package crossing

// #include <stdlib.h>
import "C"

import "unsafe"

// A Memory is outside the heaps of Go and Java. Java sees it as a direct buffer, see direct.c, and
// Go writes it in place.
type Memory struct {
	at    unsafe.Pointer
	bytes int
}

// NewMemory returns that many bytes, zero, that nobody frees.
func NewMemory(bytes int) *Memory {
	return &Memory{C.calloc(C.size_t(bytes), 1), bytes}
}

// Address is where the bytes are.
func (m *Memory) Address() int64 { return int64(uintptr(m.at)) }

// Fill writes the source's first bytes, as many as fit.
func (m *Memory) Fill(from *Source) { copy(unsafe.Slice((*byte)(m.at), m.bytes), from.params) }
