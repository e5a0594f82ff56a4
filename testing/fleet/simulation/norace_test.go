//go:build !race

package simulation

const (
	defaultSeeds  = 4000
	repeatedSeeds = 200
)
