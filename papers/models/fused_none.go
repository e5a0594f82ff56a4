//go:build !(openblas && amd64)

package models

// A fused is empty in this build: the fused convolutions need C, OpenBLAS and amd64.
type fused struct{}

func (m *CNN) newFused(bool) *fused                                { return nil }
func (*fused) pack(*CNN, []float32, []float32)                     {}
func (*fused) forward(*CNN, *workspace, []float32, int) (nan bool) { return false }
func (*fused) backward(*CNN, *workspace, []float32, int)           {}
func (*fused) unpack(*CNN, []float32)                              {}
