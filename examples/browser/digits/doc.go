// Package digits holds the samples of a device: digits that a person drew in the page, and some
// that the program draws. The package is the same in browsers and on other machines.
package digits
