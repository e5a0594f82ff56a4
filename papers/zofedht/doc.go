// Package zofedht asks which claims of the ZOFedHT paper hold: that directions guided by the last
// moves reach lower losses than plain ones.
package zofedht
