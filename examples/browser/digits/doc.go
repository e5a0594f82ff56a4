// Package digits is what a device of the example learns from: digits that somebody drew in the
// page, beside some that the program draws. It is the same in browsers and on other machines.
package digits
