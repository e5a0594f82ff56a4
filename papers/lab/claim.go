package lab

import "fmt"

// A Claim is a claim of a paper, and whether it holds here.
type Claim struct {
	Claim   string `json:"claim"`
	Figures string `json:"figures"`
	Holds   bool   `json:"holds"` // by the figures
	// TooShort, unless empty, says what the run lacks to tell whether the claim holds. Then the
	// figures are no verdict.
	TooShort string `json:"too_short,omitempty"`
}

// Claim adds a claim. figures is a format, as of fmt.Sprintf, for the numbers that support or
// refute the claim.
func (r *Report) Claim(holds bool, claim, figures string, args ...any) {
	r.Claims = append(r.Claims, Claim{Claim: claim, Figures: fmt.Sprintf(figures, args...),
		Holds: holds, TooShort: r.lacks})
}

// Needs says of the claims that follow how much they need, such as rounds, and how much the run
// has. With less, nobody can tell whether they hold.
func (r *Report) Needs(has, needs uint64, unit string) {
	r.lacks = ""
	if has < needs {
		r.lacks = fmt.Sprintf("the run has %d of the %d %s that this takes", has, needs, unit)
	}
}

// verdict returns the first word of a claim's line.
func (c *Claim) verdict() string {
	switch {
	case c.TooShort != "":
		return "cannot tell"
	case c.Holds:
		return "holds"
	}
	return "does not hold"
}

// line returns the claim as text.
func (c *Claim) line() string {
	figures := c.Figures
	if c.TooShort != "" {
		figures = c.TooShort + "; " + figures
	}
	return fmt.Sprintf("%-13s  %s: %s\n", c.verdict(), c.Claim, figures)
}

// A writtenClaim is a claim in JSON: holds is null if nobody can tell.
type writtenClaim struct {
	Claim    string `json:"claim"`
	Figures  string `json:"figures"`
	Holds    *bool  `json:"holds"`
	TooShort string `json:"too_short,omitempty"`
}

func (c *Claim) written() writtenClaim {
	w := writtenClaim{c.Claim, c.Figures, &c.Holds, c.TooShort}
	if c.TooShort != "" {
		w.Holds = nil
	}
	return w
}
