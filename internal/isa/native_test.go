//go:build (amd64 || arm64) && !purego

package isa

const native = true
