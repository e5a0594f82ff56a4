// Package beyond asks which combinations of methods, none of them in a paper, beat DeComFL with
// the settings of its authors. The best combination is the preset decomfl-adam.
package beyond
