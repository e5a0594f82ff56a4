//go:build race

package simulation

const (
	defaultSeeds  = 900
	repeatedSeeds = 40
)
