/** Signatures of tokens, by the library for them. In a module of its own, as loading it takes time that no start waits for. */
import { CompactSign } from 'jose/jws/compact/sign'
import { compactVerify } from 'jose/jws/compact/verify'
import type { SigningKey, TokenKey } from './keys.js'

export async function sign (payload: object, { algorithm, id, privateKey }: SigningKey): Promise<string> {
  return await new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: algorithm, kid: id }).sign(privateKey)
}

/** @throws Error unless the key has signed it, by the algorithm that the key is for */
export async function verify (token: string, { algorithm, publicKey }: TokenKey): Promise<void> {
  await compactVerify(token, publicKey, { algorithms: [algorithm] })
}
