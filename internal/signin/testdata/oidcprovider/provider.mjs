// A real OpenID Connect provider, whose people sign in by a name alone. It lives until
// its input ends.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [{
      client_id: process.env.CLIENT_ID,
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: [process.env.REDIRECT_URI],
    }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: process.env.IN_TOKEN !== 'yes', // where the address is told: by itself, or in the token
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: !id.startsWith('unverified') }),
    }),
  })
  server.on('request', provider.callback())
  console.log(issuer)
})
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
