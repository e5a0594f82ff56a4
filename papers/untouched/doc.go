// Package untouched asks how well presets train with nothing set but the model and the fleet,
// against the best of nine steps, and how well groups=auto chooses devices' directions.
package untouched
