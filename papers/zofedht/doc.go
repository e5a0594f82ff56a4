// Package zofedht asks which claims of the ZOFedHT paper hold: that training along directions
// guided by the last moves of the model reaches lower losses than training along plain random
// directions.
package zofedht
