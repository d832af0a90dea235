package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"chainexplorer/internal/simnode/contracts"
)

// question is a route with what is asked of it.
type question struct {
	name string
	path func(s *service) (string, error)
}

// questions are all routes of privacy pools; lists from their head, and from halfway
// down the chain.
func questions() []question {
	always := func(path string) question {
		return question{path, func(*service) (string, error) { return path, nil }}
	}
	hours := func(name string, rng func(s *service) (from, to time.Time)) question {
		return question{name, func(s *service) (string, error) {
			from, to := rng(s)
			return "tvl/series?from=" + hour(from) + "&to=" + hour(to), nil
		}}
	}
	series := func(granularity string) question {
		path := "metrics/series?range=all&granularity=" + granularity
		return question{path, func(*service) (string, error) { return path + "&token=" + contracts.STRK.String(), nil }}
	}
	return []question{
		always("tvl"),
		hours("tvl/series, the newest day", func(s *service) (time.Time, time.Time) { return s.to.Add(-24 * time.Hour), s.to }),
		hours("tvl/series, all of it", func(s *service) (time.Time, time.Time) { return s.from, s.to }),
		{"tvl/series, all of it, deep", func(s *service) (string, error) {
			middle := int(s.to.Sub(s.from) / (48 * time.Hour)) // of the pages, which have a day each
			return s.walk("tvl/series?from="+hour(s.from)+"&to="+hour(s.to), func(n int, _ page) bool { return n == middle })
		}},
		always("status"),
		always("metric-buckets?limit=90"),
		series("hour"), series("day"), series("week"),
		always("analytics"),
		always("dashboard"),
		always("events?limit=100"), deep("events?limit=100"),
		always("events?event=deposit&limit=100"), deep("events?event=deposit&limit=100"),
		always("events?event=fee_amount_set&limit=100"),
		always("commitments?limit=100"), deep("commitments?limit=100"),
		always("nullifiers?limit=100"), deep("nullifiers?limit=100"),
		{"nullifiers?pool&limit=100", func(s *service) (string, error) { return "nullifiers?limit=100&pool=" + s.pool.String(), nil }},
	}
}

func hour(t time.Time) string { return t.UTC().Truncate(time.Hour).Format(time.RFC3339) }

// deep is the page of a list in the middle of the chain.
func deep(path string) question {
	return question{path + ", deep", func(s *service) (string, error) {
		return s.walk(path, func(_ int, p page) bool { return len(p.Items) > 0 && p.Items[0].BlockNumber < s.middle })
	}}
}

// page is what is looked at of a list.
type page struct {
	Items      []struct{ BlockNumber uint64 }
	NextCursor *string
}

// walk turns the pages of a list until one is the wanted one, and returns its path.
func (s *service) walk(path string, wanted func(n int, p page) bool) (string, error) {
	at := path
	for n := 0; ; n++ {
		body, err := s.get(at)
		if err != nil {
			return "", err
		}
		var p page
		if err := json.Unmarshal(body, &p); err != nil {
			return "", err
		}
		if wanted(n, p) {
			return at, nil
		}
		if p.NextCursor == nil {
			return "", fmt.Errorf("the list ended after %d pages", n+1)
		}
		at = path + "&cursor=" + url.QueryEscape(*p.NextCursor)
	}
}

// get asks one request and reads the answer.
func (s *service) get(route string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, s.url+"/v1/"+chainID+"/privacy-pool/"+route, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Service-Api-Key", s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", route, res.StatusCode, body)
	}
	return body, err
}
