package digits

import "fmt"

// Words returns a text that says which digit a model recognizes in a drawing.
func Words(odds [Classes]float64) string {
	first, second := best(odds)
	p, q := percent(odds[first]), percent(odds[second])
	switch {
	case odds[first] >= 0.9:
		return fmt.Sprintf("That is a %d, I am quite sure (%d %%).", first, p)
	case odds[first] >= 0.5:
		return fmt.Sprintf("I think it is a %d (%d %%), else a %d (%d %%).", first, p, second, q)
	case odds[first] > 1.01/Classes:
		return fmt.Sprintf("I cannot tell. A %d (%d %%), or a %d (%d %%)?", first, p, second, q)
	}
	return "I have not learned anything yet."
}

// best returns the two digits with the highest probabilities. Of digits with equal probabilities,
// best returns the lower first.
func best(odds [Classes]float64) (first, second int) {
	second = 1
	for c, p := range odds {
		switch {
		case p > odds[first]:
			first, second = c, first
		case c != first && p > odds[second]:
			second = c
		}
	}
	return first, second
}

func percent(p float64) int { return int(100*p + 0.5) }
