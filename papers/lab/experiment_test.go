package lab

import (
	"slices"
	"testing"
)

// TestPick: what is asked for comes in the order of all, and a name that is not there is refused.
func TestPick(t *testing.T) {
	all, name := []string{"c", "a", "b"}, func(s string) string { return s + "!" }
	for _, c := range []struct{ asked, usual, want []string }{
		{nil, nil, all}, {[]string{"b!", "c!"}, nil, []string{"c", "b"}},
		{nil, []string{"a!"}, []string{"a"}}, {[]string{"b!"}, []string{"a!"}, []string{"b"}},
	} {
		if got, err := Pick("tasks", all, name, c.asked, c.usual); err != nil ||
			!slices.Equal(got, c.want) {
			t.Errorf("%q, usually %q: got %q, %v, want %q", c.asked, c.usual, got, err, c.want)
		}
	}
	_, err := Pick("tasks", all, name, []string{"a"}, nil)
	if err == nil || err.Error() != "--tasks a: choose among c!, a!, b!" {
		t.Errorf("a name that is not there: %v", err)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		env    Env
		rounds uint64
		few    int
	}{{Env{}, 300, 0}, {Env{Short: true}, 20, 1}, {Env{Rounds: 7}, 7, 0},
		{Env{Short: true, Rounds: 7}, 7, 1}} {
		if rounds, few := c.env.RoundsOr(300, 20), c.env.Few("a"); rounds != c.rounds ||
			len(few) != c.few {
			t.Errorf("%+v: %d rounds of %q, want %d of %d", c.env, rounds, few, c.rounds, c.few)
		}
	}
}
