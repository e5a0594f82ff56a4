//go:build !race

package simulation

const (
	defaultSeeds  = 1500
	repeatedSeeds = 200
)
