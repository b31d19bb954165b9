package forgetest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	installationLife = time.Hour
	longestProof     = 10 * time.Minute
)

// app is a GitHub App with one installation.
type app struct {
	id, installation int64
	slug             string
	key              *rsa.PublicKey
	account          *account // slug[bot]
	made             time.Time
}

// AddApp registers an App, installed in all repositories. It acts as the bot
// "slug[bot]", by tokens for an hour of the server's clock, which it gets for
// a JSON Web Token signed with the private half of key.
func (s *Server) AddApp(slug string, id, installation int64, key *rsa.PublicKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = append(s.apps, &app{id: id, installation: installation, slug: slug, key: key,
		account: s.account(slug + "[bot]"), made: s.stamp()})
}

// RemoveToken makes a token invalid.
func (s *Server) RemoveToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, token)
}

// proven is the App that signed the token and may use it now, or nil.
func (s *Server) proven(token string) *app {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Iss      string
		Iat, Exp int64
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !part(parts[0], &head) || !part(parts[1], &claims) || head.Alg != "RS256" {
		return nil
	}
	now, from, to := s.now().Unix(), claims.Iat, claims.Exp
	if from > now || to <= now || to-now > int64(longestProof/time.Second) {
		return nil
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	for _, a := range s.apps {
		if claims.Iss == strconv.FormatInt(a.id, 10) && rsa.VerifyPKCS1v15(a.key, crypto.SHA256, sum[:], signature) == nil {
			return a
		}
	}
	return nil
}

// part decodes a part of a JSON Web Token.
func part(text string, into any) bool {
	data, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(data, into) == nil
}

func (s *Server) createInstallationToken(c *call) reply {
	if c.app == nil {
		return problem(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	if c.PathValue("id") != strconv.FormatInt(c.app.installation, 10) {
		return notFound()
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(s.nextID(), 10)))
	token := "ghs_" + hex.EncodeToString(sum[:18])
	end := s.stamp().Add(installationLife)
	s.tokens[token], s.ends[token] = c.app.account, end
	return created(object{
		"token": token, "expires_at": moment(end), "repository_selection": "all",
		"permissions": object{"contents": "write", "issues": "write", "pull_requests": "write", "metadata": "read"},
	})
}

func (s *Server) getApp(c *call) reply {
	a := c.app
	if a == nil {
		return problem(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	return ok(object{
		"id": a.id, "slug": a.slug, "node_id": nodeID("Integration", a.id), "client_id": "Iv1." + strconv.FormatInt(a.id, 16),
		"owner": c.userObject(a.account), "name": a.slug, "description": nil, "external_url": c.web,
		"html_url": c.web + "/apps/" + a.slug, "created_at": moment(a.made), "updated_at": moment(a.made),
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{}, "installations_count": 1,
	})
}
