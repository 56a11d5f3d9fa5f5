module example.com/notify-delivery-client

go 1.19
