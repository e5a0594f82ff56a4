// Package untouched asks how well presets train if the user sets only the model and the fleet,
// compared with the same presets with the best of nine step sizes. The package also asks how well
// groups=auto chooses which devices share directions.
package untouched
