package zofedht

import (
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

func TestTable1(t *testing.T) {
	r := labtest.Run(t, Table1(), &lab.Env{})
	if len(r.Claims) != 3 || !r.Claims[0].Holds || r.Claims[1].Holds || !r.Claims[2].Holds {
		t.Errorf("%+v: want the second alone not to hold", r.Claims)
	}
}
