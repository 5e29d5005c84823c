/** Stock kubectl changes objects of known kinds, with strategic merge patches. All programs share a server. */
import t from 'tap'
import type { Json } from '../build.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere } from './server.js'

const STRATEGIC = /application\/strategic-merge-patch\+json/
const names = (items: Json[]): string[] => items.map(({ name }) => name as string)

t.test('kubectl changes what it knows', async t => {
  const server = await ServerHere.start(t)
  for (const program of programs()) {
    await t.test(`kubectl ${program.version}`, async t => {
      const kubectl = new Kubectl(t, program, server.tokenConfig())
      const name = `web-${program.minor}`
      const container = (name: string, more: Json = {}): Json => ({ name, image: `${name}:1`, ...more })
      const deployment = (containers: Json[], more: Json = {}): string => kubectl.file('deployment.json', {
        apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name },
        spec: {
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: { containers } },
          ...more
        }
      })
      const apply = async (file: string): Promise<string> => {
        const { code, out, err } = await kubectl.run(['apply', `--filename=${file}`, '-v=8'])
        if (code !== 0) throw new Error(err)
        t.match(err, STRATEGIC)
        return out
      }

      await t.test('client-side apply', async t => {
        const port = { containerPort: 80 }
        const first = deployment(
          [
            container('web', {
              ports: [port], env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }], args: ['-a', '-b']
            }),
            container('log')
          ],
          { replicas: 2 }
        )
        t.match(await kubectl.ok('apply', `--filename=${first}`), /created$/)
        t.match(await kubectl.ok('apply', `--filename=${first}`), /unchanged$/)
        t.match(await kubectl.ok('set', 'env', `deployment/${name}`, '--containers=web', 'OTHER=kept'), /env updated$/)

        const second = deployment(
          [
            container('first'),
            container('web', {
              image: 'web:2',
              ports: [port, { containerPort: 443 }],
              env: [{ name: 'B', value: '3' }, { name: 'C', value: '4' }],
              args: ['-c']
            })
          ],
          { strategy: { type: 'Recreate' } }
        )
        t.match(await apply(second), /configured/)
        const { metadata, spec } = await kubectl.json('get', 'deployment', name)
        const [, web] = spec.template.spec.containers
        t.strictSame(
          names(spec.template.spec.containers), ['first', 'web'],
          'one is added and one removed, in the order of the file'
        )
        t.match(web, { image: 'web:2', args: ['-c'], ports: [{ containerPort: 80 }, { containerPort: 443 }] })
        t.strictSame(
          web.env.map(({ name, value }: Json) => `${name}=${value}`).sort(), ['B=3', 'C=4', 'OTHER=kept'],
          'omitted fields are removed; those another client added stay'
        )
        t.strictSame(spec.strategy, { type: 'Recreate' }, 'nothing is left of the strategy before')
        t.equal(spec.replicas, 1, 'omitted fields are defaulted')
        // It sends the order of the variables again, because the object has one that it does not know.
        await apply(second)
        t.equal(
          (await kubectl.json('get', 'deployment', name)).metadata.resourceVersion, metadata.resourceVersion,
          'applied again it changes nothing'
        )
      })

      await t.test('set image, scale, label, annotate, rollout restart, patch, edit', async t => {
        t.match(await kubectl.ok('set', 'image', `deployment/${name}`, 'web=web:3'), /image updated$/)
        t.match(await kubectl.ok('scale', 'deployment', name, '--replicas=4'), /scaled$/)
        t.match(await kubectl.ok('label', 'deployment', name, 'tier=one'), /labeled$/)
        t.match(await kubectl.ok('annotate', 'deployment', name, 'note=x'), /annotated$/)
        t.match(await kubectl.ok('rollout', 'restart', `deployment/${name}`), /restarted$/)
        const patch = JSON.stringify({
          spec: {
            template: {
              spec: {
                containers: [
                  { name: 'first', $patch: 'delete' },
                  {
                    name: 'web',
                    env: [{ name: 'C', value: null, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
                  }
                ]
              }
            }
          }
        })
        t.match(await kubectl.ok('patch', 'deployment', name, '--type=strategic', `--patch=${patch}`), /patched$/)
        const editor = kubectl.file('editor.sh', '#!/bin/sh\nexec sed -i "s/image: web:3$/image: web:4/" "$1"\n', 0o755)
        const edited = await kubectl.run(['edit', 'deployment', name], { EDITOR: editor })
        t.match(edited, { code: 0, out: /edited/ }, edited.err)
        const { metadata, spec } = await kubectl.json('get', 'deployment', name)
        t.match(metadata, { labels: { tier: 'one' }, annotations: { note: 'x' } })
        t.equal(spec.replicas, 4)
        t.match(spec.template, {
          metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': /./ } },
          spec: { containers: [{ name: 'web', image: 'web:4' }] }
        })
        t.match(spec.template.spec.containers[0].env.find(({ name }: Json) => name === 'C'), {
          valueFrom: { fieldRef: { fieldPath: 'metadata.name' } }, value: undefined
        })
      })
    })
  }
  t.equal(await server.stop(), 0, server.log)
})
