// Package beyond asks which combinations that no paper has beat DeComFL as its authors run it. The
// best combination is the preset decomfl-adam.
package beyond
