//go:build !purego

package isa

func detect() []Level { return []Level{Generic, NEON} }
