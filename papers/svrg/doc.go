// Package svrg asks which claims of the ZO-SVRG paper hold, on least squares whose minimum is
// known: whether its steps get closer to the minimum than plain ones, and along which directions.
package svrg
