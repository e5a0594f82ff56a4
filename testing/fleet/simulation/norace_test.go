//go:build !race

package simulation

const (
	defaultSeeds  = 3500
	repeatedSeeds = 200
)
