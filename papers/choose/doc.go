// Package choose compares presets on losses of 2 to 100 parameters at equal evaluations: the
// measurements behind preset.Choose.
package choose
