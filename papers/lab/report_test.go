package lab

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestNoClaims(t *testing.T) {
	var b bytes.Buffer
	if err := (&Report{ID: "none"}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID     string
		Claims []Claim
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.ID != "none" || got.Claims == nil {
		t.Errorf("got %s, %v: want an empty list of claims", b.Bytes(), err)
	}
}
