package main

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// thousands matches a whole number with points between its thousands, where a decimal point would
// be possible, too.
var thousands = regexp.MustCompile(`^[+-]?[0-9]{1,3}\.[0-9]{3}$`)

// parseNumber reads a finite number with a decimal point or comma, and perhaps with marks between
// thousands: 1013.25, 1.013,25, 1 013,25, 1'013.25. If commas separate columns, 1,013 may have a
// decimal comma or a thousand: then parseNumber returns an error. comma says whether the number has
// a decimal comma.
func parseNumber(text string, commasSeparate bool) (v float64, comma bool, err error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsInf(v, 0) {
			return 0, false, strconv.ErrRange
		}
		return v, false, nil
	}
	text = strings.Map(func(c rune) rune {
		if strings.ContainsRune(" \u00a0\u2009\u202f’", c) {
			return '\''
		}
		return c
	}, text)
	number, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		number, exponent = text[:i], text[i:]
	}
	whole, part := number, ""
	if i := strings.LastIndexAny(number, ".,"); i >= 0 && strings.Count(number, number[i:i+1]) == 1 {
		whole, part = number[:i], number[i+1:]
		comma = number[i] == ','
	}
	if comma && commasSeparate && len(part) == 3 && !strings.ContainsAny(whole, ".'") {
		return 0, false, strconv.ErrSyntax
	}
	if whole, err = ungrouped(whole); err != nil {
		return 0, false, err
	}
	v, err = strconv.ParseFloat(whole+"."+part+exponent, 64)
	if math.IsInf(v, 0) {
		err = strconv.ErrRange
	}
	return v, comma, err
}

// ungrouped returns a whole number without the marks between its thousands, which must be alike.
func ungrouped(whole string) (string, error) {
	i := strings.IndexAny(whole, ".,'")
	if i < 0 {
		return whole, nil
	}
	groups := strings.Split(whole, whole[i:i+1])
	for _, g := range groups[1:] {
		if len(g) != 3 || strings.ContainsAny(g, ".,'") {
			return "", strconv.ErrSyntax
		}
	}
	return strings.Join(groups, ""), nil
}
