//go:build (!amd64 && !arm64) || purego

package isa

func detect() []Level { return []Level{Generic} }
