/**
 * Who authenticates, from a file: issuers of JSON Web Tokens with rules and mappings of their claims, and where
 * requests without credentials are anonymous. Expressions are CEL, over `claims` or `user`.
 */
import { apiPackage, bool, list, one, string, type Message, type Static } from '../../language/declare.js'
import { validateAuthentication } from './authentication-rules.js'

function declare (version: 'v1' | 'v1beta1' | 'v1alpha1') {
  const { message, kind } = apiPackage('apiserver.config.orch.io', version, `io.orch.apiserver.config.${version}`)
  const Issuer = message('Issuer', 'Where tokens come from, and for whom they are.', {
    url: string(null, 'The iss claim of its tokens, an https URL below which its discovery document lies.', {
      required: true
    }),
    discoveryURL: string(null, 'The URL of its discovery document, where that lies elsewhere.', { pointer: true }),
    certificateAuthority: string(null, 'Authorities of the issuer in PEM; those of the system by default.'),
    audiences: list(null, 'Audiences of which a token must have one.', 'string', { required: true }),
    audienceMatchPolicy: string(null, 'MatchAny, required with several audiences.', { values: ['MatchAny'] }),
    egressSelectorType: string(null, 'The proxy of the calls: controlplane or cluster; none by default.', {
      values: ['controlplane', 'cluster']
    })
  })
  const ClaimValidationRule = message('ClaimValidationRule', 'What claims must be: a value or an expression.', {
    claim: string(null, 'Name of a claim.'),
    requiredValue: string(null, 'The text that the claim must have.'),
    expression: string(null, 'An expression over claims that must be true.'),
    message: string(null, 'Says what is wrong where the expression is false.')
  })
  const PrefixedClaimOrExpression = message('PrefixedClaimOrExpression', 'A claim with a prefix, or an expression.', {
    claim: string(null, 'Name of a claim.'),
    prefix: string(null, 'Put before the value of the claim; required with a claim, and may be empty.', {
      pointer: true
    }),
    expression: string(null, 'An expression over claims.')
  })
  const ClaimMappings = message('ClaimMappings', 'How claims make a user.', {
    username: one(null, 'Name of the user.', PrefixedClaimOrExpression, { required: true }),
    groups: one(null, 'Groups of the user.', PrefixedClaimOrExpression),
    uid: one(null, 'Identifier of the user.', message('ClaimOrExpression', 'A claim, or an expression.', {
      claim: string(null, 'Name of a claim.'),
      expression: string(null, 'An expression over claims.')
    }), { written: true }),
    extra: list(null, 'Further attributes of the user.', message('ExtraMapping', 'An attribute of the user.', {
      key: string(null, 'Name of the attribute: a domain, a slash and a path.', { required: true }),
      valueExpression: string(null, 'An expression over claims; the attribute is left out where it is empty.', {
        required: true
      })
    }))
  })
  const JWTAuthenticator = message('JWTAuthenticator', 'An issuer of tokens, and how they make users.', {
    issuer: one(null, 'The issuer.', Issuer, { required: true }),
    claimValidationRules: list(null, 'What claims must be.', ClaimValidationRule),
    claimMappings: one(null, 'How claims make a user.', ClaimMappings, { required: true }),
    userValidationRules: list(
      null, 'What the user must be.', message('UserValidationRule', 'What the user must be.', {
        expression: string(null, 'An expression over user that must be true.', { required: true }),
        message: string(null, 'Says what is wrong where it is false.')
      })
    )
  })
  return kind('AuthenticationConfiguration', 'Who authenticates.', {
    jwt: list(null, 'Issuers of tokens.', JWTAuthenticator, { required: true }),
    anonymous: one(null, 'Requests without credentials.', message('AnonymousAuthConfig', 'Anonymous requests.', {
      enabled: bool(null, 'Whether there are any.', { required: true }),
      conditions:
        list(null, 'Where: at any of these; everywhere by default.', message('AnonymousAuthCondition', 'A place.', {
          path: string(null, 'The path of a request, exactly.', { required: true })
        }))
    }), { pointer: true })
  }, {
    validate: (configuration, at, report) => {
      validateAuthentication(configuration, at === '' ? '' : `${at}.`, report)
    }
  })
}

export type AuthenticationConfiguration = Static<typeof AuthenticationConfiguration>
export const AuthenticationConfiguration = declare('v1')

export type JwtAuthenticator = NonNullable<AuthenticationConfiguration['jwt']>[number]
export type ClaimMappings = JwtAuthenticator['claimMappings']

/** One for each version. */
export const AUTHENTICATION_CONFIGURATIONS: ReadonlyArray<Message<AuthenticationConfiguration>> =
  [AuthenticationConfiguration, ...(['v1beta1', 'v1alpha1'] as const)
    .map(declare)] as Array<typeof AuthenticationConfiguration>
