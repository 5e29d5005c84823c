/** Signs and verifies tokens with jose. A separate module, so that start-up need not wait for the import. */
import { CompactSign } from 'jose/jws/compact/sign'
import { compactVerify } from 'jose/jws/compact/verify'
import type { SigningKey, TokenKey } from './keys.js'

export async function sign (payload: object, { algorithm, id, privateKey }: SigningKey): Promise<string> {
  return await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: algorithm, kid: id })
    .sign(privateKey)
}

/** @throws Error unless the key, with its own algorithm, signed the token */
export async function verify (token: string, { algorithm, publicKey }: TokenKey): Promise<void> {
  await compactVerify(token, publicKey, { algorithms: [algorithm] })
}
