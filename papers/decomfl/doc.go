// Package decomfl asks which claims of the DeComFL paper hold where models are trained: accuracy by
// rounds and by settings, bytes, time, and the methods by gradients that the paper compares with,
// which package firstorder has. Package device measures what devices fetch and keep.
package decomfl
