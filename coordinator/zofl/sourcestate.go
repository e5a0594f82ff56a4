package main

import (
	"encoding/hex"
	"os"

	"github.com/zofl/zofl/client/replica"
)

// headOf reads the head of a state file.
func headOf(name string) (replica.Head, error) {
	file, err := os.Open(name)
	if err != nil {
		return replica.Head{}, err
	}
	defer file.Close()
	return replica.ReadHead(file)
}

func loadState(name string, head *replica.Head, initial []float32) (
	r *replica.Replica, h replica.History, err error,
) {
	file, err := os.Open(name)
	if err != nil {
		return nil, h, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, h, err
	}
	return replica.Load(replica.Config{Run: head.Plan.Run, Dim: head.Plan.Dim, Initial: initial},
		file, info.Size())
}

func digestOf(r *replica.Replica) string {
	d := r.Digest()
	return hex.EncodeToString(d[:])
}
