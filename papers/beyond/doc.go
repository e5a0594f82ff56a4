// Package beyond asks which combinations that no paper has beat DeComFL as its authors run it.
// The best of them is the preset decomfl-adam.
package beyond
