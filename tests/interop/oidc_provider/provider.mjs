// An OpenID provider on loopback, at which people sign in by choosing their name.
//
//     node provider.mjs PORT SETTINGS.json
//
// The settings contain `client` (the metadata of the only client) and `people` (claims by subject).
// The people are read again at each sign-in. With `api`, an audience, the client itself gets access
// tokens for it, which are JWTs with the claims of the person who has the client's id.
import { readFileSync } from "node:fs";
import { interactionPolicy, Provider } from "oidc-provider";

const [port, file] = process.argv.slice(2);
const settings = () => JSON.parse(readFileSync(file, "utf8"));
const { base, Prompt } = interactionPolicy;

const policy = base();
policy.add(new Prompt({ name: "select_account", requestable: true }), 0);

// The default page loads a font from another server.
function logoutSource(ctx, form) {
  ctx.body = `<!doctype html><title>Provider</title>${form}
    <button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>`;
}

const { api } = settings();
const accessTokens = {
  clientCredentials: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => api,
    getResourceServerInfo: () => ({ audience: api, accessTokenFormat: "jwt", scope: "" }),
  },
};

const provider = new Provider(`http://localhost:${port}`, {
  clients: [settings().client],
  claims: { openid: ["sub"], email: ["email"], profile: ["name", "groups"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["a key of the tests"] },
  extraTokenClaims: (_ctx, token) => settings().people[token.clientId],
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { logoutSource },
    ...(api ? accessTokens : {}),
  },
  interactions: { policy, url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...settings().people[sub] }) }),
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith("/interaction/")) return next();
  const { uid } = await provider.interactionDetails(ctx.req, ctx.res);
  const person = ctx.query.person;
  if (person) {
    const result = { login: { accountId: person }, select_account: {} };
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    return;
  }
  const links = Object.keys(settings().people).map(
    (sub) => `<li><a href="/interaction/${uid}?person=${sub}">${sub}</a></li>`,
  );
  ctx.type = "html";
  ctx.body = `<!doctype html><title>Provider</title><h1>Who are you?</h1><ul>${links.join("")}</ul>`;
});

provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
