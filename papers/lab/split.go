package lab

import "github.com/zofl/zofl/coordinator/zofl/data"

// A Split deals samples to clients.
type Split struct {
	Name, Title string
	Deal        func(labels []uint8, clients int, seed uint64) ([][]int, error)
}

// Splits lists the splits, from the one that makes clients most alike to the one that makes them
// least alike.
var Splits = []Split{
	{"i", "IID", func(labels []uint8, clients int, seed uint64) ([][]int, error) {
		return data.IID(len(labels), clients, seed)
	}},
	{"d", "Dirichlet 0.1", func(labels []uint8, clients int, seed uint64) ([][]int, error) {
		return data.Dirichlet(labels, clients, 0.1, seed)
	}},
	{"s", "2 shards a client", func(labels []uint8, clients int, seed uint64) ([][]int, error) {
		return data.Shards(labels, clients, 2, seed)
	}},
}
