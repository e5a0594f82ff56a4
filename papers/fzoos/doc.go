// Package fzoos asks which claims of the FZooS paper hold. The paper claims that surrogates save
// queries where a loss is an expensive black box. Package blackbox has the problems.
package fzoos
