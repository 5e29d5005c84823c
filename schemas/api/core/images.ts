/** Names of images. */

const TAG = /^[\w][\w.-]{0,127}$/

/** The tag an image is pulled by: `latest` where it names neither a tag nor a digest, '' for what is no name of an image. */
export function tagOf (image: string): string {
  const [name = '', ...digest] = image.split('@')
  if (name === '') return ''
  const at = name.lastIndexOf(':')
  const tag = at > name.lastIndexOf('/') ? name.slice(at + 1) : undefined
  if (tag !== undefined) return TAG.test(tag) ? tag : ''
  return digest.length > 0 ? '' : 'latest'
}
