//go:build !race

package simulation

const (
	defaultSeeds  = 1200
	repeatedSeeds = 200
)
