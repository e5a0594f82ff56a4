// Package svrg asks which claims of the ZO-SVRG paper hold, on least-squares problems with known
// minimum. The package tests whether ZO-SVRG gets closer to the minimum than plain ZO-SGD, and
// with which choice of directions.
package svrg
