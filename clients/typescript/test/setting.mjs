// What tests/clients/test_typescript.py says about the running service.
export const SETTING = JSON.parse(process.env.NOTIFY_TEST_SETTING ?? "{}");
export const { Notify, ...client } = await import(SETTING.client);

export const connect = (settings = {}) => new Notify({ url: SETTING.url, key: SETTING.key, ...settings });

let count = 0;
export const fresh = (word) => `${word}-${SETTING.run}-${process.pid}-${(count += 1)}`;

export const mail = (user_id, fields = {}) => ({
  user_id, type: "ORDER_SHIPPED", priority: "P2", content: { title: "Hello", body: "Hello" }, channels: ["email"], ...fields,
});

export async function person(notify, word = "person") {
  const user_id = fresh(word);
  await notify.recipients.put(user_id, {
    locale: "en", timezone: "UTC", contacts: [{ channel: "email", address: `${user_id}@sandbox.example` }],
  });
  return user_id;
}
