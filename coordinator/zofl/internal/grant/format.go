package grant

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
)

// Conf returns permissions in the syntax of a user's block in the configuration of a nats-server.
func Conf(p *jwt.Permissions) string {
	var b strings.Builder
	b.WriteString("permissions: {\n")
	list := func(name string, subjects []string) {
		fmt.Fprintf(&b, "  %s: [\n", name)
		for _, s := range subjects {
			fmt.Fprintf(&b, "    %q\n", s)
		}
		b.WriteString("  ]\n")
	}
	list("publish", p.Pub.Allow)
	list("subscribe", p.Sub.Allow)
	if r := p.Resp; r != nil {
		fmt.Fprintf(&b, "  allow_responses: { max: %d, expires: \"%v\" }\n", r.MaxMsgs, r.Expires)
	}
	b.WriteString("}\n")
	return b.String()
}

// JWT returns permissions and limits in the JSON form that a user's JWT has below "nats".
func JWT(p *jwt.Permissions, l jwt.NatsLimits) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // > is a wildcard
	err := e.Encode(struct {
		*jwt.Permissions
		jwt.NatsLimits
	}{p, l})
	return b.String(), err
}
