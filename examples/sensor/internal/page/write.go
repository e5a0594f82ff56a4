package page

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

const head = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="60">
<meta name="color-scheme" content="light dark"><title>%[1]s</title>
<style>body{font:16px system-ui;margin:2em;max-width:50em}table{border-collapse:collapse}
td,th{padding:.3em .8em;text-align:left;border-bottom:1px solid #8888}</style>
<h1>%[1]s</h1>
<table><tr><th>channel<th>reading<th>at<th>forecast<th>for<th>now
`

// people writes the page.
func (p *Page) people(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	p.mu.Lock()
	fmt.Fprintf(&b, head, html.EscapeString(p.id))
	for _, f := range p.forecasts {
		p.row(&b, f)
	}
	b.WriteString("</table>\n<h2>Unusual readings</h2>\n<ul>\n")
	for _, u := range p.history {
		fmt.Fprintf(&b, "<li>%s\n", html.EscapeString(sentence(u)))
	}
	p.mu.Unlock()
	b.WriteString("</ul>\n<p>Times are UTC. <a href=\"/metrics\">Metrics</a>\n")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // who asked may have gone
}

func (p *Page) row(b *bytes.Buffer, f notice.Forecast) {
	if f.Record == 0 {
		fmt.Fprintf(b, "<tr><td>%s<td colspan=5>no forecast yet\n", html.EscapeString(f.Channel))
		return
	}
	now := "usual"
	if _, far := p.unusual[f.Channel]; far {
		now = "unusual"
	}
	value := number(f.Value)
	if f.Deviation > 0 {
		value += " ± " + number(f.Deviation)
	}
	unit := html.EscapeString(f.Unit)
	fmt.Fprintf(b, "<tr><td>%s<td>%s %s<td>%s<td>%s %s<td>%s<td>%s\n",
		html.EscapeString(f.Channel), number(f.Reading), unit, clock(f.At), value, unit,
		clock(f.For), now)
}

// sentence describes an unusual reading in words.
func sentence(u notice.Unusual) string {
	if u.Over {
		return clock(u.At) + " " + u.Channel + ": usual again"
	}
	return fmt.Sprintf("%s %s: %s %s, where %s was expected", clock(u.At), u.Channel,
		number(u.Reading), u.Unit, number(u.Forecast))
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// number has four digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// metrics writes the metrics for Prometheus, in its text format 0.0.4. Names of channels need no
// escapes.
func (p *Page) metrics(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	p.mu.Lock()
	for _, m := range []struct {
		name, kind, help string
		value            func(notice.Forecast) float64
	}{
		{"zofl_sensor_reading", "gauge", "Mean of the newest period's readings, in the channel's unit.",
			func(f notice.Forecast) float64 { return f.Reading }},
		{"zofl_sensor_reading_timestamp_seconds", "gauge", "When that period began.",
			func(f notice.Forecast) float64 { return float64(f.At.Unix()) }},
		{"zofl_sensor_forecast", "gauge", "Newest forecast, in the channel's unit.",
			func(f notice.Forecast) float64 { return f.Value }},
		{"zofl_sensor_forecast_timestamp_seconds", "gauge", "When the period begins that it is for.",
			func(f notice.Forecast) float64 { return float64(f.For.Unix()) }},
		{"zofl_sensor_forecast_deviation", "gauge",
			"Standard deviation of recent forecasts' errors, 0 while there are too few.",
			func(f notice.Forecast) float64 { return f.Deviation }},
		{"zofl_sensor_record", "gauge", "Record of the run whose model made the forecast.",
			func(f notice.Forecast) float64 { return float64(f.Record) }},
		{"zofl_sensor_unusual", "gauge", "1 while readings are unusual.",
			func(f notice.Forecast) float64 {
				if _, far := p.unusual[f.Channel]; far {
					return 1
				}
				return 0
			}},
		{"zofl_sensor_unusual_total", "counter", "How often readings became unusual.",
			func(f notice.Forecast) float64 { return float64(p.counts[f.Channel]) }},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for _, f := range p.forecasts {
			if f.Record > 0 {
				fmt.Fprintf(&b, "%s{channel=%q} %s\n", m.name, f.Channel,
					strconv.FormatFloat(m.value(f), 'g', -1, 64))
			}
		}
	}
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}
