//go:build race

package simulation

const (
	defaultSeeds  = 720
	repeatedSeeds = 40
)
