package bus

import "strings"

// wellFormed reports whether a message can be published to the subject.
func wellFormed(subject string) bool {
	return wellFormedPattern(subject) && !isPattern(subject)
}

// wellFormedPattern reports whether the subject, wildcards included, can be
// subscribed to.
func wellFormedPattern(subject string) bool {
	if strings.ContainsAny(subject, " \t\r\n\x00") {
		return false
	}
	for more := true; more; {
		var token string
		token, subject, more = strings.Cut(subject, ".")
		if token == "" || token == ">" && more {
			return false
		}
	}
	return true
}

// isPattern reports whether the subject has a wildcard. A * or > inside a longer token
// is an ordinary character.
func isPattern(subject string) bool {
	for more := true; more; {
		var token string
		token, subject, more = strings.Cut(subject, ".")
		if token == "*" || token == ">" {
			return true
		}
	}
	return false
}

// matches reports whether a well-formed pattern covers a subject.
func matches(pattern, subject string) bool {
	for {
		want, pattern2, morePattern := strings.Cut(pattern, ".")
		if want == ">" {
			return true
		}
		token, subject2, moreSubject := strings.Cut(subject, ".")
		if want != "*" && want != token {
			return false
		}
		if !morePattern || !moreSubject {
			return morePattern == moreSubject
		}
		pattern, subject = pattern2, subject2
	}
}
