package webhook

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

// userAgent is what receivers see.
const userAgent = "chainexplorer-webhooks/1"

// send sends the message under way, and those that follow it, for as long as they are taken
// and others need not wait too long.
func (j *Job) send(ctx context.Context, s *sub) error {
	for range oneTurn {
		taken, err := j.attempt(ctx, s)
		if errors.Is(err, webhook.ErrLost) {
			s.stale = true
			return nil
		}
		if err != nil || !taken || s.stale || s.as != proven {
			s.more = true // when it was taken: what follows is looked for by another
			return err
		}
		if s.again.Load() { // its owner changed it: that comes first
			s.stale = true
			return nil
		}
		if err := j.look(ctx, s); err != nil || s.Message == nil || s.stale {
			return err
		}
	}
	return nil
}

// attempt sends a message once and notes what came of it.
func (j *Job) attempt(ctx context.Context, s *sub) (taken bool, err error) {
	m := *s.Message
	body := s.body
	if body == "" {
		if body, err = j.Webhooks.Body(ctx, s.id, m.Sequence); err != nil {
			return false, err
		}
	}
	begin := j.Now()
	id := webhook.MessageID(s.id, m.Sequence)
	signature, err := s.Sign(id, begin, []byte(body))
	if err != nil {
		return false, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {userAgent}}
	header.Set(webhook.HeaderID, id)
	header.Set(webhook.HeaderTimestamp, strconv.FormatInt(begin.Unix(), 10))
	header.Set(webhook.HeaderSignature, signature)
	answer, err := j.post(ctx, s, &m, header, body)
	if ctx.Err() != nil {
		return false, ctx.Err() // whether it was taken is not known: it is sent again
	}
	taken = err == nil && answer.OK()
	s.note(taken, begin, j.Now())
	s.body = ""
	if taken {
		j.Metrics.sent("delivered")
		s.delivered, s.Message = s.Message, nil
		return true, nil
	}
	return false, j.failed(ctx, s, &m, answer, err, begin, body)
}

// shortAttempts is how many attempts of a message are short for a receiver that took nothing
// yet. One that needs its time has it afterwards.
const shortAttempts = 2

func (j *Job) post(ctx context.Context, s *sub, m *webhook.Message, header http.Header, body string) (egress.Answer, error) {
	if !s.took && m.Attempts < shortAttempts {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.Patience)
		defer cancel()
	}
	return j.Client.Post(ctx, s.URL, header, []byte(body))
}

// failed decides what follows an attempt that failed.
func (j *Job) failed(ctx context.Context, s *sub, m *webhook.Message, answer egress.Answer, err error, begin time.Time, body string) error {
	m.Attempts++
	m.Status = answer.Status
	if m.FirstAt.Unix() <= 0 {
		m.FirstAt = begin
	}
	if err != nil {
		j.Metrics.sent("unreachable")
	} else {
		m.Answered++
		j.Metrics.sent("refused")
	}
	if answer.Status == http.StatusGone {
		s.stale = true
		j.Logger.Info("a webhook is disabled: its receiver is gone", "webhook", s.id)
		return j.Webhooks.Disable(ctx, s.Subscription, m, webhook.Gone)
	}
	m.NextAt = j.Now().Add(max(j.Retry.After(m.Attempts), answer.RetryAfter))
	if m.NextAt.After(m.FirstAt.Add(j.GiveUp)) {
		why, err := j.Webhooks.GiveUp(ctx, s.id, m, body)
		if err != nil {
			return err
		}
		j.Metrics.gaveUp()
		if why != "" {
			j.Logger.Info("a webhook is disabled: its messages are not taken", "webhook", s.id, "why", why)
		}
		s.stale = true
		return nil
	}
	if err := j.Webhooks.Attempted(ctx, s.id, m); err != nil {
		return err
	}
	s.Message = m
	return nil
}
